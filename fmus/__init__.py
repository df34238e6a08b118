"""The exporter: components to .fmu files."""

from fmus.package import build as build
