"""Asks a language model on this machine in free text, and keeps what it says as a corpus.

    python scripts/collect_replies.py MODEL REPLIES FILE WORDINGS

`tests/replies/data/corpus-*.jsonl` was made so, what the reply parser is measured on. Needs the
extra `local`. Each line is a reply: the model, the prompt (suite/item/wording), the temperature,
which tokens it was drawn from, the limit of tokens, the seed, the finish reason and the text.

Wordings are those of the built-in suites, and four of our own, in `FORMS`: without any form, a
reason before the verdict, an example turn, and the two outputs by the names that LLMBar gives them.
What is asked in succession begins alike, for the server reads no beginning twice.

Each prompt is asked at temperature 0 up to 4, 12 and 40 tokens (a longer limit only where the
shorter one cut the reply off: otherwise the text is the same), and at 1.5 twice up to 4, twice up
to 12 and once up to 40 tokens: every third time from all tokens, else from those that llama.cpp's
defaults leave. Every eighth prompt is asked at both up to 120 tokens, too.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Mapping
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from pytest_judgesense.judges.local import served
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.prompt_template import fill

SUITES: Final = ("factuality", "vacuum", "relevance", "preference", "coherence")
# Wordings of the suites that begin with what is to be judged, then those that begin otherwise.
SHIPPED: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "factuality": (("t1", "t3", "s2"), ("t2", "t4", "t5")),
    "vacuum": (("baseline", "strict"), ()),
    "relevance": (("t1", "s2"), ("t2", "t4")),
    "preference": (("t1", "s2"), ("t2", "t4")),
    "coherence": (("t3", "s2"), ("t2",)),
}
FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "factuality": {
        "free": "Is the answer correct?",
        "reason": "Say in one short sentence whether the answer is correct. "
        'Then write "Verdict: YES" if it is or "Verdict: NO" if it is not.',
    },
    "vacuum": {
        "free": "Which response is better?",
        "reason": "Compare the two responses in one short sentence. "
        'Then write "Verdict: A", "Verdict: B" or "Verdict: tie".',
    },
    "relevance": {
        "free": "Which passage is better for the query?",
        "reason": "Compare the two passages in one short sentence. "
        'Then write "Verdict: A" or "Verdict: B".',
    },
    "preference": {
        "free": "Which response is better?",
        "reason": "Compare the two responses in one short sentence. "
        'Then write "Verdict: A" or "Verdict: B".',
    },
    "coherence": {
        "free": "How coherent is this text on a scale from 1 to 5?",
        "reason": "Say in one short sentence how coherent this text is on a scale from 1 to 5. "
        'Then write "Score: " and the number.',
    },
}
# A turn that shows the form, before the prompt of the wording `reason`.
EXAMPLES: Final[Mapping[str, tuple[Mapping[str, str], str]]] = {
    "factuality": (
        {"question": "How many days has a week?", "answer": "A week has seven days."},
        "The answer gives the right number.\nVerdict: YES",
    ),
    "vacuum": (
        {"task": "Name a colour.", "a": "Red.", "b": "Red is a colour."},
        "One of the two does what was asked and the other does not.\nVerdict: {label}",
    ),
    "relevance": (
        {"task": "boil an egg", "a": "Boil it for eight minutes.", "b": "Hens lay eggs."},
        "Only one passage says how it is done.\nVerdict: {label}",
    ),
    "preference": (
        {"task": "Name a colour.", "a": "Red.", "b": "Red is a colour."},
        "One of the two does what was asked and the other does not.\nVerdict: {label}",
    ),
    "coherence": (
        {"text": "The sun rose. It warmed the stones. By noon the snow had gone."},
        "The sentences follow one another in one line of thought.\nScore: 5",
    ),
}
OUTPUTS: Final = """
# Instruction:
{task}

# Output (a):
{a}

# Output (b):
{b}

# Which is better, Output (a) or Output (b)? Your response should be either "Output (a)" or "Output (b)":
"""  # noqa: E501 - one line of the prompt
NAMED: Final[dict[str, Any]] = {
    "labels": ["A", "B"],
    "pairwise": True,
    "names": {"A": ["Output (a)"], "B": ["Output (b)"]},
}
TEMPERATURE: Final = 1.5
# At temperature 0, and at `TEMPERATURE`.
LIMITS: Final = ((4, 12, 40), (4, 4, 12, 12, 40))
LONG, EVERY = 120, 8
ALL_TOKENS: Final = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "repeat_penalty": 1.0}


class Prompt(NamedTuple):
    """What is asked: its name and messages, and its instruction without what is to be judged."""

    name: str
    messages: list[dict[str, str]]
    instruction: str
    space: dict[str, Any]


def prompts() -> Iterator[Prompt]:
    """The prompts of all suites in turn, from each a run of some that begin alike."""
    for turn in zip_longest(*(_runs(name) for name in SUITES)):
        yield from chain.from_iterable(run for run in turn if run)


def _runs(name: str) -> Iterator[list[Prompt]]:
    path = builtin_suites()[name]
    form = tomllib.loads(path.read_text(encoding="utf-8"))
    lines = (path.parent / form["stimuli"]["file"]).read_text(encoding="utf-8").splitlines()
    templates = {one["id"]: one["text"] for one in form["templates"]}
    material = templates[SHIPPED[name][0][0]].rpartition(">\n\n")[0] + ">\n\n"

    def prompt(wording: str, text: str, space: dict[str, Any], *before: dict[str, str]) -> Prompt:
        system = {"role": "system", "content": form["system"]}
        asked = [system, *before, {"role": "user", "content": fill(text, fields)}]
        return Prompt(f"{name}/{item['id']}/{wording}", asked, text.strip(), space)

    for n, line in enumerate(sorted(lines, key=len)):
        item = json.loads(line)
        fields = {key: value for key, value in item.items() if isinstance(value, str)}
        if "texts" in item:
            fields["a"], fields["b"] = item["texts"][:: -1 if n % 2 else 1]
        first, others = SHIPPED[name]
        forms = FORMS[name]
        run = [prompt(wording, templates[wording], form["space"]) for wording in first]
        run += [prompt(key, material + text, form["space"]) for key, text in forms.items()]
        if name in ("preference", "vacuum"):
            run.append(prompt("outputs", OUTPUTS, NAMED))
        if n % 2:
            run += [prompt(wording, templates[wording], form["space"]) for wording in others]
        yield run
        shown, answer = EXAMPLES[name]
        example = (
            {"role": "user", "content": fill(material + forms["reason"], shown)},
            {"role": "assistant", "content": answer.format(label="AB"[n // 2 % 2])},
        )
        yield [prompt("example", material + forms["reason"], form["space"], *example)]


def replies(model: str, base_url: str) -> Iterator[tuple[Prompt, dict[str, Any]]]:
    """What the model says, a line of the corpus each."""
    with httpx.Client(base_url=base_url, timeout=600) as client:

        def ask(prompt: Prompt, temperature: float, limit: int, seed: int) -> dict[str, Any]:
            drawn = "default" if temperature and seed % 3 else "all"
            body = {
                "model": model,
                "messages": prompt.messages,
                "max_tokens": limit,
                "temperature": temperature,
                "seed": seed,
                "cache_prompt": True,
                **(ALL_TOKENS if drawn == "all" else {}),
            }
            found = client.post("chat/completions", json=body).raise_for_status().json()
            choice = found["choices"][0]
            return {
                "model": model,
                "prompt": prompt.name,
                "temperature": temperature,
                "drawn_from": drawn,
                "max_tokens": limit,
                "seed": seed,
                "finish_reason": choice["finish_reason"],
                "text": choice["message"]["content"],
            }

        seed = 0
        for n, prompt in enumerate(prompts()):
            long = (LONG,) if n % EVERY == 0 else ()
            for limit in (*LIMITS[0], *long):
                reply = ask(prompt, 0, limit, 0)
                yield prompt, reply
                if reply["finish_reason"] == "stop":
                    break
            for limit in (*LIMITS[1], *long):
                seed += 1
                yield prompt, ask(prompt, TEMPERATURE, limit, seed)


def main() -> None:
    """Ask until the corpus has as many replies of the model as are wanted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("replies", type=int)
    parser.add_argument("file", type=Path, help="the corpus: a JSON line for each reply")
    parser.add_argument("wordings", type=Path, help="what was asked: a JSON object")
    given = parser.parse_args()
    wordings: dict[str, Any] = {}
    with served(given.model, threads=1) as url, given.file.open("w", encoding="utf-8") as file:
        for prompt, reply in islice(replies(given.model, url), given.replies):
            suite, _, wording = prompt.name.split("/")
            wordings[f"{suite}/{wording}"] = {
                "space": prompt.space,
                "instruction": prompt.instruction,
            }
            file.write(json.dumps(reply) + "\n")
            file.flush()
    text = json.dumps(wordings, ensure_ascii=False, indent=1, sort_keys=True)
    given.wordings.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
