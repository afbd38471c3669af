"""Errors of studies and data."""


class DataError(ValueError):
    """A recording that cannot be used; the message names file and line."""


class StudyError(ValueError):
    """A study that makes no sense; the message names the key."""
