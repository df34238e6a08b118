"""Results as tables and data sets with labels, of pandas and xarray, which are imported where they are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dockfmu.base.extras import load_extra
from dockfmu.base.names import array_shape, subscripts

if TYPE_CHECKING:
    import pandas
    import xarray


class Labelled(Protocol):
    """Give the series of a recording, and what is known of each."""

    time: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray: ...
    def unit(self, name: str) -> str:
        """Return the unit of a variable."""

    def attribute(self, name: str) -> dict[str, Any]:
        """Return unit and description of a variable."""


def whole_arrays(names: Iterable[str]) -> list[str]:
    """Return names in their order, with the elements of an array that are all there replaced by its name.

    A name that is that of an array and of a scalar at once stays the scalar's, and the elements stay alone.
    """
    known = list(names)
    scalars = set(known)
    places: dict[str, list[tuple[int, ...]]] = {}
    for name in known:
        array, place = subscripts(name)
        places.setdefault(array, []).append(place)
    whole = {array for array, found in places.items() if array_shape(found) and array not in scalars}
    return list(dict.fromkeys(array if (array := subscripts(name)[0]) in whole else name for name in known))


def as_table(results: Labelled, names: Sequence[str]) -> pandas.DataFrame:
    """Return scalars as columns over time, with their units in `attrs["units"]`."""
    package = load_extra("pandas", "a table", "campaign")
    frame: pandas.DataFrame = package.DataFrame(
        {name: results[name] for name in names}, index=package.Index(results.time, name="time")
    )
    frame.attrs["units"] = {name: results.unit(name) for name in names}
    return frame


def as_dataset(results: Labelled, names: Sequence[str]) -> xarray.Dataset:
    """Return variables over time, each with its unit and description; a whole array has axes NAME_1, NAME_2."""
    package = load_extra("xarray", "a data set with labels", "xarray")

    def labelled(name: str) -> Any:
        values, about = results[name], results.attribute(name)
        axes = [f"{name}_{axis}" for axis in range(1, values.ndim)]
        attributes = {"units": about["unit"], "long_name": about["description"]}
        return package.DataArray(values, dims=["time", *axes], attrs=attributes)

    time = package.DataArray(results.time, dims="time", attrs={"units": "s"})
    dataset: xarray.Dataset = package.Dataset({name: labelled(name) for name in names}, coords={"time": time})
    return dataset
