"""What the conformance runner expects of a server under test, beside what Toolfold has.

Names and texts are the runner's own. Nothing of this is registered but by its test.
"""

import base64
from typing import Any, Literal

from mcp.server.mcpserver import Audio, Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    ContentBlock,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/"
    "iZk9HQAAAABJRU5ErkJggg=="
)
WAV = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
)


class Person(BaseModel):
    """What one elicitation asks for."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    """What another asks for, with a default for each kind of value."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    """Return a resource with its text."""
    resource = TextResourceContents(uri=uri, text=text, mime_type=mime_type)
    return EmbeddedResource(type="resource", resource=resource)


def image() -> ImageContent:
    """Return a picture of one pixel."""
    data = base64.b64encode(PNG).decode()
    return ImageContent(type="image", data=data, mime_type="image/png")


def add_to(server: MCPServer[None]) -> None:
    """Register all that the runner asks for."""
    for tool in (
        *(test_simple_text, test_image_content, test_audio_content, test_embedded_resource),
        *(test_multiple_content_types, test_tool_with_logging, test_error_handling),
        *(test_tool_with_progress, test_sampling, test_elicitation),
        *(test_elicitation_sep1034_defaults, test_elicitation_sep1330_enums),
    ):
        server.add_tool(tool, description=f"A fixture: {tool.__name__}.", structured_output=False)
    for uri, read, mime_type in (
        ("test://static-text", static_text, "text/plain"),
        ("test://static-binary", static_binary, "image/png"),
        ("test://template/{id}/data", template, "application/json"),
    ):
        server.resource(uri, description="A fixture.", mime_type=mime_type)(read)
    for prompt in (
        *(test_simple_prompt, test_prompt_with_arguments, test_prompt_with_image),
        test_prompt_with_embedded_resource,
    ):
        server.prompt(description="A fixture.")(prompt)
    # The SDK's server offers neither, and the runner asks every server for them.
    handlers = server._lowlevel_server  # noqa: SLF001
    for method, parameters in (
        ("logging/setLevel", SetLevelRequestParams),
        ("resources/subscribe", SubscribeRequestParams),
        ("resources/unsubscribe", UnsubscribeRequestParams),
    ):
        handlers.add_request_handler(method, parameters, accept)


async def accept(_context: Any, _parameters: Any) -> EmptyResult:
    return EmptyResult()


def test_simple_text() -> str:
    return "This is a simple text response for testing."


def test_image_content() -> Image:
    return Image(data=PNG, format="png")


def test_audio_content() -> Audio:
    return Audio(data=WAV, format="wav")


def test_embedded_resource() -> EmbeddedResource:
    return embedded("test://embedded-resource", "This is an embedded resource content.")


def test_multiple_content_types() -> list[ContentBlock]:
    return [
        TextContent(type="text", text="Multiple content types test:"),
        image(),
        embedded(
            "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
        ),
    ]


async def test_tool_with_logging(ctx: Context) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message(
            level="info", data=text, related_request_id=ctx.request_id
        )
    return "Done."


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context) -> str:
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
    return "Done."


async def test_sampling(prompt: str, ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result: Any = await ctx.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {result.content.text}"


async def test_elicitation(message: str, ctx: Context) -> str:
    return f"User response: {await ctx.elicit(message, Person)}"


async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    return f"Elicitation completed: {await ctx.elicit('Please confirm.', Defaults)}"


async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    titled = [{"const": f"value{at}", "title": f"Option {at}"} for at in (1, 2, 3)]
    names = ["option1", "option2", "option3"]
    properties = {
        "untitledSingle": {"type": "string", "enum": names},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": names, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": names}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    schema = {"type": "object", "properties": properties}
    result = await ctx.session.elicit_form("Please choose.", schema, ctx.request_id)
    return f"Elicitation completed: {result}"


def static_text() -> str:
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    return PNG


def template(id: str) -> str:  # noqa: A002 (the URI's name for it)
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_image() -> list[Any]:
    return [image(), "Please analyze the image above."]


def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803 (the runner's)
    text = "Embedded resource content for testing."
    return [embedded(resourceUri, text), "Please process the embedded resource above."]
