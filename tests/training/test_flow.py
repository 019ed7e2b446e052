"""Flow matching: padded ticks count for nothing, Euler follows a straight path exactly."""

import pytest
import torch

from training.flow import euler_sample, flow_loss, interpolate


def make_case() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    v, x_0, x_1 = torch.randn(3, 6, 8, 2)
    is_valid = torch.arange(8)[None] < torch.tensor([8, 5, 1, 0, 8, 3])[:, None]
    return v, x_0, x_1, is_valid


@pytest.mark.parametrize("value", [1e6, float("nan"), float("inf")])
def test_padded_values_change_the_loss_by_exactly_zero(value: float) -> None:
    v, x_0, x_1, is_valid = make_case()
    before = flow_loss(v, x_0, x_1, is_valid)
    x_1[~is_valid] = value
    assert flow_loss(v, x_0, x_1, is_valid) == before


def test_row_without_valid_ticks_contributes_nothing() -> None:
    v, x_0, x_1, is_valid = make_case()
    rows = is_valid.any(1)
    without = flow_loss(v[rows], x_0[rows], x_1[rows], is_valid[rows])
    assert torch.isclose(flow_loss(v, x_0, x_1, is_valid), without)


def test_no_valid_tick_at_all_gives_zero_and_a_finite_gradient() -> None:
    v, x_0, x_1, is_valid = make_case()
    v.requires_grad_()
    loss = flow_loss(v, x_0, x_1, torch.zeros_like(is_valid))
    loss.backward()
    assert loss == 0
    assert (v.grad == 0).all()


def test_path_begins_in_noise_and_ends_in_data() -> None:
    _, x_0, x_1, _ = make_case()
    assert torch.equal(interpolate(x_0, x_1, torch.zeros(6)), x_0)
    assert torch.equal(interpolate(x_0, x_1, torch.ones(6)), x_1)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_euler_reaches_the_data_along_a_straight_path(steps: int) -> None:
    _, x_0, x_1, _ = make_case()
    assert torch.allclose(euler_sample(lambda _x, _t: x_1 - x_0, x_0, steps), x_1, atol=1e-5)


def test_euler_asks_at_the_start_of_each_step() -> None:
    asked: list[float] = []

    def velocity(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        asked.append(float(t[0]))
        return torch.zeros_like(x)

    euler_sample(velocity, torch.zeros(1, 4, 2), 2)
    assert asked == [0, 0.5]
