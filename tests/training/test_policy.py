"""The network: any views, any text, and attention that equals the textbook's."""

import pytest
import torch

from training.model.layers import attend
from training.model.policy import Observation, Policy, PolicyShape, scale_pixels
from training.model.text import WordEncoder, hash_words
from training.step import color_gain


def make_policy(views: tuple[str, ...]) -> Policy:
    torch.manual_seed(0)
    return Policy(PolicyShape(views, ("toy",), 32, state_dim=5, action_dim=3, width=32, depth=1)).eval()


def observe(policy: Policy, n: int, texts: tuple[str, ...] = ("go left", "pick up the can now")) -> Observation:
    shape = policy.shape
    torch.manual_seed(1)
    images = torch.randint(0, 255, (n, len(shape.views), 32, 32, 3), dtype=torch.uint8)
    which = torch.arange(n) % len(texts)
    return Observation(images, torch.randn(n, 20, 5), which, texts, torch.zeros(n, dtype=torch.long))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_any_number_of_views_becomes_eight_task_tokens_and_a_chunk(count: int) -> None:
    policy = make_policy(tuple(f"camera_{i}" for i in range(count)))
    task = policy.encode(observe(policy, 2))
    assert task.shape == (2, 8, 32)
    v = policy.velocity(torch.randn(6, 40, 3), torch.rand(6), task)
    assert v.shape == (6, 40, 3)


def test_several_flow_samples_of_one_image_equal_one_by_one() -> None:
    policy = make_policy(("head",))
    task = policy.encode(observe(policy, 2))
    x, t = torch.randn(6, 40, 3), torch.rand(6)
    together = policy.velocity(x, t, task)
    alone = torch.cat([policy.velocity(x[i : i + 1], t[i : i + 1], task[i // 3 : i // 3 + 1]) for i in range(6)])
    assert torch.allclose(together, alone, atol=1e-5)


def test_padding_of_a_shorter_instruction_changes_nothing() -> None:
    policy = make_policy(("head",))
    alone = policy.encode(observe(policy, 1, ("go left",)))
    beside = policy.encode(observe(policy, 1, ("go left", "a much longer instruction with many words")))
    assert torch.allclose(alone, beside, atol=1e-5)


def test_instruction_changes_the_task_tokens() -> None:
    policy = make_policy(("head",))
    left = policy.encode(observe(policy, 1, ("go left",)))
    right = policy.encode(observe(policy, 1, ("go right",)))
    assert not torch.allclose(left, right, atol=1e-3)


def test_written_out_attention_equals_the_library() -> None:
    q, k, v = torch.randn(2, 4, 3, 8), torch.randn(2, 4, 5, 8), torch.randn(2, 4, 5, 8)
    mask = torch.tensor([[1, 1, 0, 1, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)[:, None, None]
    assert torch.allclose(
        attend(q, k, v, mask), torch.nn.functional.scaled_dot_product_attention(q, k, v, mask), atol=1e-6
    )


def test_words_keep_their_number_whatever_the_case() -> None:
    assert hash_words("Pick up the CAN.") == hash_words("pick up the can")
    assert hash_words("left bin") != hash_words("right bin")


def test_empty_instruction_has_no_word() -> None:
    tokens, is_word = WordEncoder(16)(["", "go"])
    assert torch.isfinite(tokens).all()
    assert is_word.tolist() == [[False], [True]]


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of group"):
        PolicyShape(("head",), ("toy",), 32, 5, 3, chunk=40, group=7)
    with pytest.raises(ValueError, match="at least one view"):
        PolicyShape((), ("toy",), 32, 5, 3)


def test_gain_of_one_is_no_gain_and_a_gain_scales_the_light() -> None:
    image = torch.randint(0, 120, (2, 3, 4, 4, 3), dtype=torch.uint8)
    plain = scale_pixels(image)
    assert plain.shape == (2, 3, 3, 4, 4)
    assert torch.allclose(scale_pixels(image, torch.ones(2, 3, 3)), plain, atol=1e-6)
    assert torch.allclose(scale_pixels(image, torch.full((2, 3, 3), 2.0)), scale_pixels(image * 2), atol=1e-6)


def test_pixels_stay_distinct_in_bfloat16() -> None:
    ramp = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16, 1).expand(-1, -1, -1, -1, 3)
    with torch.autocast("cpu", torch.bfloat16):
        scaled = scale_pixels(ramp)
    assert scaled.dtype == torch.bfloat16
    assert len(scaled[0, 0, 0].unique()) == 256


def test_lamp_tints_all_views_of_an_example_alike() -> None:
    gain = color_gain(5, 3, 0.2, 0.1)
    assert gain is not None
    assert gain.shape == (5, 3, 3)
    assert (gain[:, :1] == gain).all()
    assert color_gain(5, 3, 0, 0) is None
