"""Tests of the HTML page, in a browser and without one."""
