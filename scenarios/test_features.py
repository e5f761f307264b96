"""Binds every feature."""

from pytest_bdd import scenarios

from conformance.running.suite import features_root

scenarios(str(features_root()))
