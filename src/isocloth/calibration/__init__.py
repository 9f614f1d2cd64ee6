"""Fitting the parameters of a cloth to recordings, how much they matter, and forecasting them."""

from isocloth.calibration import baselines
from isocloth.calibration.calibrate import calibrate
from isocloth.calibration.compare import Comparison, compare_models
from isocloth.calibration.errors import Errors, errors
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.fit import Fit
from isocloth.calibration.forecast import HANDS, HANGER, Forecast, Refit, forecast, refit, speed_measure
from isocloth.calibration.parameters import Parameter
from isocloth.calibration.preparation import prepare
from isocloth.calibration.result import Calibration
from isocloth.calibration.search import SearchOptions
from isocloth.calibration.sensitivity import SensitivityMap, sensitivity

__all__ = [
    "HANDS", "HANGER", "Calibration", "Comparison", "Errors", "Experiment", "Fit", "Forecast", "Parameter", "Refit",
    "SearchOptions", "SensitivityMap", "baselines", "calibrate", "compare_models", "errors", "forecast", "prepare",
    "refit", "sensitivity", "speed_measure",
]  # fmt: skip
