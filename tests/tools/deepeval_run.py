"""A run of deepeval: ``deepeval_run.py BASE_URL``; its file lands in DEEPEVAL_RESULTS_FOLDER."""

import sys

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase, SingleTurnParams

MODEL = OpenAIModel(model="gpt-4o-mini", base_url=sys.argv[1], api_key="none")
SHOWN = [
    SingleTurnParams.INPUT,
    SingleTurnParams.ACTUAL_OUTPUT,
    SingleTurnParams.EXPECTED_OUTPUT,
]
METRICS = [
    GEval(
        name=name,
        criteria=criteria,
        evaluation_steps=[step],
        evaluation_params=SHOWN,
        model=MODEL,
        threshold=threshold,
        async_mode=False,
    )
    for name, criteria, step, threshold in (
        ("Correctness", "Is it right?", "Compare the actual output with the expected one.", 0.5),
        ("Tone", "Is it polite?", "Judge the tone of the actual output.", 0.7),
    )
]
CASES = [
    LLMTestCase(
        name=f"case-{n}",
        input=f"What is {n} + {n}?",
        actual_output=f"It is {2 * n}.",
        expected_output=str(2 * n),
        additional_metadata={"thread": f"t{n // 2}"},
    )
    for n in range(1, 7)
]

if __name__ == "__main__":
    evaluate(
        CASES,
        METRICS,
        identifier="sums",
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
