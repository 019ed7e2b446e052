"""Policies rolled out in a simulated world, under a study's conditions and with its referee.

What is asked of a policy, when, and with which observations is what the agent beside the robot does; what becomes of a
rollout is judged by the cell's own judge. So a rate here can stand beside the rate of real trials.
"""

from generation.evaluation.config import EvaluateConfig
from generation.evaluation.evaluator import Evaluator, Outcome
from generation.evaluation.policy import Policy, Seen
from generation.evaluation.starts import RolloutOrder, rollout_orders

__all__ = ["EvaluateConfig", "Evaluator", "Outcome", "Policy", "RolloutOrder", "Seen", "rollout_orders"]
