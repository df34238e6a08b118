"""The icon of an FMU is a picture that other programs read."""

import io
import zipfile

import numpy as np
import pytest
from matplotlib.image import imread

from dockfmu.fmus import catalogue
from dockfmu.fmus.icon import DRAWINGS, OTHER, SIZE, Disc, Polygon, Stroke, render


def test_icon_of_an_fmu_is_read_by_others(gadget_fmu):
    with zipfile.ZipFile(gadget_fmu) as archive:
        picture = imread(io.BytesIO(archive.read("model.png")), format="png")
    assert np.array_equal(np.rint(255 * picture[..., :3]), render(OTHER))


def test_every_component_of_the_catalogue_has_a_drawing_of_its_own():
    assert {catalogue.entry(name).module.rpartition(".")[2] for name in catalogue.names()} == set(DRAWINGS)


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (Polygon("#000000", ((20, 20), (80, 20), (20, 80))), 1800.0),
        (Disc("#000000", (50, 50), 30.0), np.pi * 900.0),
        (Stroke("#000000", ((20, 50), (80, 50)), 20.0), 60.0 * 20.0 + np.pi * 100.0),
    ],
)
def test_shapes_cover_their_area(shape, area):
    """In hundredths of an edge; edges are sampled at a quarter of a pixel, 0.2, over perimeters below 210."""
    dark = 1.0 - render([shape])[2:-2, 2:-2].mean(axis=2) / 246.33
    assert dark.sum() * (100.0 / SIZE) ** 2 == pytest.approx(area, abs=20.0)
