"""Questions that ask questions: calibration, comparison with other accountants, training runs."""
