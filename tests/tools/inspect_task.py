"""Two tasks of inspect_ai, run by the long gate; the first wrote tests/data/tools/hours.eval.

``hours`` is graded by the embedded judge (``judgesense serve``), ``sums`` by ``grader.py`` in
Inspect's own words, twice each, once by a panel.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes, model_graded_fact, model_graded_qa
from inspect_ai.solver import generate, solver

THINGS = "library museum bakery garden harbour market pool theatre chapel archive".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
TEMPLATE = """
<source>
{criterion}
</source>
<statement>
{answer}
</statement>
It was asked: {question}
Does the source support the statement? Answer YES or NO.
"""


@solver
def stated():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", state.metadata["stated"])
        return state

    return solve


def samples():
    for n, thing in enumerate(THINGS):
        day, other = DAYS[n % 5], DAYS[(n + 2) % 5]
        for right in (True, False):
            yield Sample(
                id=f"{thing} {'yes' if right else 'no'}",
                input=f"When does the {thing} open?",
                target=f"The {thing} opens on {day} at nine.",
                metadata={
                    "stated": f"The {thing} opens on {day if right else other} at nine.",
                    "place": thing,
                    "human": "YES" if right else "NO",
                },
            )


@task
def hours():
    judge = model_graded_qa(
        template=TEMPLATE, grade_pattern=r"\b(YES|NO)\b", model="openai-api/local/clean"
    )
    return Task(dataset=list(samples()), solver=stated(), scorer=[judge, includes()])


@task
def sums():
    data = [Sample(id=n, input=f"What is {n} + {n}?", target=str(2 * n)) for n in range(1, 8)]
    panel = ["openai-api/grader/one", "openai-api/grader/two"]
    scorers = [
        model_graded_qa(partial_credit=True, model="openai-api/grader/one"),
        model_graded_fact(model=panel),
    ]
    solve = generate()
    return Task(dataset=data, solver=solve, scorer=scorers, epochs=3)
