"""Suites, outputs and results at URLs, such as `s3://bucket/suite.zip`."""
