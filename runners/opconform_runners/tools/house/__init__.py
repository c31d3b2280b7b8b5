"""The rules of the house: what every operation that opconform ships has, besides a declaration and some cases."""

from opconform_runners.tools.house.lacks import Lack
from opconform_runners.tools.house.rules import RULES, lacks_of

__all__ = ["RULES", "Lack", "lacks_of"]
