"""Models' names lead to dialects by the families that specs list, or to none."""

from __future__ import annotations

import pytest

from calligram import find_dialect

# Names as they stand on model hubs.
KNOWN = {
    "Qwen3-Coder-30B": "qwen3-coder-xml",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct-GGUF": "qwen3-coder-xml",
    "unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF": "qwen3-coder-xml",
    "Qwen3-Coder-30B-A3B-Instruct-UD-Q4_K_XL.gguf": "qwen3-coder-xml",
    "models\\Qwen3-Coder-Next-IQ4_XS.gguf": "qwen3-coder-xml",
    "Qwen/Qwen3.5-4B": "qwen3-coder-xml",
    "Qwen/Qwen2.5-7B-Instruct-AWQ": "hermes-json",
    "Qwen2.5-VL-7B-Instruct": "hermes-json",
    "qwen3 0.6b": "hermes-json",
    "Qwen_Qwen3-8B-Q8_0.gguf": "hermes-json",
    "NousResearch/Hermes-3-Llama-3.1-8B": "hermes-json",
    "ibm-granite/granite-4.0-h-tiny": "hermes-json",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3-json",
    "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "llama3-json",
    "deepseek-ai/DeepSeek-V3.1-Terminus": "deepseek-v31",
    "deepseek-ai/DeepSeek-V3.2-Exp": "deepseek-v31",
    "deepseek-ai/DeepSeek-V3.2": "deepseek-v32-dsml",
    "openai/gpt-oss-20b": "harmony",
    "gpt-oss-120b-MXFP4": "harmony",
    # A family is known by the sizes that there are, and without one.
    "gpt-oss": "harmony",
    "openai/gpt-oss-7b": "harmony",
    "Apertus-Instruct-2509": "apertus-name-key",
    "moonshotai/Kimi-K2-Instruct-0905": "kimi-k2",
    "zai-org/GLM-4.5-Air-FP8": "glm45-xml",
    "google/gemma-4-31B-it": "gemma4",
    "mistralai/Devstral-Small-2507": "mistral-args",
    "mistralai/Ministral-3-14B-Reasoning-2512": "mistral-args",
    "LiquidAI/LFM2.5-8B-A1B": "lfm2-pythonic",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen3-coder-xml",
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_name(name: str) -> None:
    found = find_dialect(name)
    assert found.dialect == KNOWN[name]
    assert found.matches[0].dialect == found.dialect and found.matches[0].sure


@pytest.mark.parametrize("name", ["gpt2", "", "/", "7B-Instruct-GGUF", "llama", "Qwen", "v3.1"])
def test_a_name_of_no_family(name: str) -> None:
    found = find_dialect(name)
    assert (found.dialect, found.matches) == ("unknown", ())


@pytest.mark.parametrize(
    ("name", "perhaps"),
    [
        ("Qwen3-Omni-30B", "hermes-json"),
        ("SuperBot-9-Qwen3-8B", "hermes-json"),
        ("Granite-4.9-8b", "hermes-json"),
    ],
)
def test_what_is_not_sure_is_unknown_with_a_candidate(name: str, perhaps: str) -> None:
    found = find_dialect(name)
    assert found.dialect == "unknown"
    assert [m.dialect for m in found.matches] == [perhaps]
    assert not found.matches[0].sure


def test_the_longer_family_wins_and_the_other_is_told() -> None:
    found = find_dialect("Qwen3-Coder-30B")
    assert [(m.dialect, m.family) for m in found.matches] == [
        ("qwen3-coder-xml", "Qwen3-Coder"),
        ("hermes-json", "Qwen3"),
    ]


def test_did_you_mean() -> None:
    found = find_dialect("Qwen3-Codr-30B")
    assert found.dialect == "unknown"
    assert "Qwen3-Coder" in [m.family for m in found.near]
