"""Joint commands to latents and back."""

import json

import numpy as np
import pytest

from training.data.actions import ActionCodec, fit_codec

rng = np.random.default_rng(3)
ARM, HAND, HELD = [0, 1, 2], list(range(3, 11)), 11
N, T, D = 60, 10, 12


def sample_chunks(hand_rank: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chunks of 3 arm joints, 8 hand joints on `hand_rank` synergies, and a joint that holds still."""
    measured = rng.normal(size=(N, D))
    action = np.zeros((N, T, D))
    action[..., ARM] = measured[:, None, ARM] + np.cumsum(rng.normal(0, 0.05, (N, T, 3)), 1)
    action[..., HAND] = rng.normal(size=(N, T, hand_rank)) @ rng.normal(size=(hand_rank, 8))
    action[..., HELD] = 0.7
    return action.astype(np.float32), measured.astype(np.float32), np.ones((N, T), bool)


def fit(action: np.ndarray, measured: np.ndarray, is_valid: np.ndarray) -> ActionCodec:
    return fit_codec(action, measured, is_valid, relative=[*ARM, HELD], groups=[HAND], floor=0.01)


def test_decoding_undoes_encoding() -> None:
    action, measured, is_valid = sample_chunks()
    codec = fit(action, measured, is_valid)
    latent = codec.encode(action, measured[:, None])
    assert np.allclose(codec.decode(latent, measured[:, None]), action, atol=1e-4)


def test_hand_on_one_synergy_becomes_one_number() -> None:
    codec = fit(*sample_chunks(hand_rank=1))
    assert codec.latent_dim == len(ARM) + 1


def test_hand_that_synergies_do_not_explain_stays_joint_by_joint() -> None:
    codec = fit(*sample_chunks(hand_rank=8))
    assert codec.synergies == ()
    assert codec.latent_dim == len(ARM) + len(HAND)


def test_held_joint_is_left_out_and_restored_whatever_was_sampled() -> None:
    codec = fit(*sample_chunks())
    latent = rng.normal(0, 10, (T, codec.latent_dim)).astype(np.float32)
    decoded = codec.decode(latent, rng.normal(size=D).astype(np.float32))
    assert (decoded[:, HELD] == np.float32(0.7)).all()


def test_arm_follows_the_measured_joints() -> None:
    action, measured, is_valid = sample_chunks()
    codec = fit(action, measured, is_valid)
    latent = np.zeros((T, codec.latent_dim), np.float32)
    shift = codec.decode(latent, measured[0] + 1) - codec.decode(latent, measured[0])
    assert np.allclose(shift[:, ARM], 1, atol=1e-5)
    assert np.allclose(shift[:, HAND], 0)


def test_padded_ticks_do_not_enter_the_statistics() -> None:
    action, measured, is_valid = sample_chunks()
    is_valid[:, 5:] = False
    poisoned = action.copy()
    poisoned[:, 5:] = 1e6
    a, b = fit(action, measured, is_valid), fit(poisoned, measured, is_valid)
    assert np.allclose(a.affine.scale, b.affine.scale)


def test_survives_json() -> None:
    action, measured, is_valid = sample_chunks()
    codec = fit(action, measured, is_valid)
    again = ActionCodec.from_json(json.loads(json.dumps(codec.to_json())))
    assert (again.encode(action, measured[:, None]) == codec.encode(action, measured[:, None])).all()


def test_nothing_that_moves_is_refused() -> None:
    action, measured, is_valid = sample_chunks()
    with pytest.raises(ValueError, match="nothing to learn"):
        fit(np.full_like(action, 0.5), measured, is_valid)
