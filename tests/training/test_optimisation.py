"""Which parameters go where, and that both parts learn."""

import torch

from training.model.policy import Policy, PolicyShape
from training.optimisation import PolicyOptimizer, average_into, learning_rate, split_parameters
from training.presets import PRESETS

TINY = PRESETS["tiny"]


def make_net() -> Policy:
    torch.manual_seed(0)
    return Policy(PolicyShape(("head",), ("toy",), 16, state_dim=4, action_dim=2, width=32, depth=1))


def test_every_parameter_is_in_exactly_one_part() -> None:
    net = make_net()
    matrices, others = split_parameters(net)
    assert sorted(map(id, [*matrices, *others])) == sorted(map(id, net.parameters()))
    assert all(p.ndim == 2 for p in matrices)


def test_embeddings_and_action_layers_are_not_orthogonalised() -> None:
    net = make_net()
    others = {id(p) for p in split_parameters(net)[1]}
    for parameter in (net.text.words.weight, net.embodiment.weight, net.flow.take.weight, net.flow.give.weight):
        assert id(parameter) in others


def test_step_moves_every_parameter_that_has_a_gradient() -> None:
    net = make_net()
    optimizer = PolicyOptimizer(net, TINY)
    before = [p.detach().clone() for p in net.parameters()]
    for p in net.parameters():
        p.grad = torch.randn_like(p)
    optimizer.step(1e-2)
    assert all(not torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))


def test_moments_survive_a_round_trip() -> None:
    net = make_net()
    first, second = PolicyOptimizer(net, TINY), PolicyOptimizer(net, TINY)
    for p in net.parameters():
        p.grad = torch.randn_like(p)
    first.step(1e-3)
    for p in net.parameters():
        second.restore(p, first.state_of(p))
        assert all(torch.equal(value, second.state_of(p)[key]) for key, value in first.state_of(p).items())
        assert first.state_of(p)


def test_average_follows_quickly_at_first() -> None:
    net, ema = make_net(), make_net()
    with torch.no_grad():
        net.kind.add_(1.0)
    start = ema.kind.detach().clone()
    average_into(ema, net, TINY, step=0)
    assert torch.allclose(ema.kind - start, torch.full_like(start, 0.95), atol=1e-5)


def test_learning_rate_rises_then_falls_to_nothing() -> None:
    rates = [learning_rate(TINY, step, step / 1000) for step in range(1000)]
    assert rates[0] < rates[50] < rates[100] > rates[500] > rates[999]
    assert rates[999] < 1e-4 * TINY.learning_rate + 1e-6
