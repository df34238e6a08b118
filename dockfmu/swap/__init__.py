"""The ports that a third-party FMU needs to take the place of an element, and skeletons of such FMUs."""
