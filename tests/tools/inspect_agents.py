"""A task of inspect_ai in which tools are called, run by the long gate; it wrote parcels.eval.

``inspect eval inspect_agents.py --max-samples 1``: the models say in order what stands here, so no
judge and no network is asked.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    ContentToolUse,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import ToolCall, ToolError, tool

MODEL = "mockllm/model"
# A picture of one byte: what it shows is not looked at.
PICTURE = ContentImage(image="data:image/png;base64,iQ==")


@tool
def find_parcel():
    async def execute(number: int) -> str:
        """Find a parcel.

        Args:
            number: its number.
        """
        if number == 99:
            raise ToolError("there is no parcel 99")
        # Longer texts stand among the attachments of a sample.
        return "In the depot of Lyon. " * 10

    return execute


def said(content):
    return ModelOutput.from_content(MODEL, content)


def called(*numbers):
    output = said("I look.")
    output.choices[0].message.tool_calls = [
        ToolCall(id=f"c{number}", function="find_parcel", arguments={"number": number})
        for number in numbers
    ]
    return output


def counted(*outputs):
    """Outputs with their tokens, which Inspect would count by a file from the network."""
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return list(outputs)


@task
def parcels():
    searched = [
        ContentReasoning(reasoning="It is not among ours."),
        ContentText(text="I search."),
        ContentToolUse(
            tool_type="web_search",
            id="srv_1",
            name="web_search",
            arguments='{"query": "parcel 18"}',
            result='[{"title": "Seen in Graz"}]',
        ),
        ContentText(text="It was seen in Graz."),
    ]
    seen = [ContentText(text="Whose is it?"), PICTURE]
    samples = [
        Sample(id="found", input="Where are 17 and 99?", target="17 in Lyon, 99 unknown"),
        Sample(id="searched", input="Where is 18?", target="Graz"),
        Sample(id="seen", input=[ChatMessageUser(content=seen)], target="Nobody's"),
    ]
    told = said("17 is in Lyon, and there is no 99.")
    outputs = [called(17, 99), told, said(searched), called(17), said("Ours.")]
    grades = [said(f"GRADE: {grade}") for grade in "CCI"]
    return Task(
        dataset=samples,
        solver=[system_message("You help."), use_tools(find_parcel()), generate()],
        scorer=model_graded_qa(model=get_model("mockllm/grader", custom_outputs=counted(*grades))),
        model=get_model(MODEL, custom_outputs=counted(*outputs)),
    )
