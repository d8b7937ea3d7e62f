"""Drives `loopwright serve mcp` with the MCP SDK of PyPI, an implementation that shares nothing with the server's own.

    python client.py PROGRAM

The client checks every result against the schema that the tool was listed with. What is expected is written here; anything else ends the
script with an error.
"""

import asyncio
import contextlib
import json
import subprocess
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp import types


async def agree(_context, params):
    """The user, who reads what is asked and says yes."""
    if "manage_contact" not in params.message or "sha256:" not in params.message:
        raise AssertionError(f"the question does not show the call: {params.message}")
    return types.ElicitResult(action="accept", content={"confirm": True})


async def refused(client, tool, arguments, kind):
    result = await client.call_tool(tool, arguments)
    expect(result.is_error and result.structured_content["kind"] == kind, result)


def expect(held, found):
    if not held:
        raise AssertionError(f"not as expected: {found}")


def same(result):
    """Text and structured content are the same JSON."""
    expect(json.loads(result.content[0].text) == result.structured_content, result)
    return result.structured_content


async def walk(client):
    """One phone: its tools, a call, a rule of its world, a mistake, the user's word, and what is not there."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    expect(len(tools) > 40 and "manage_wifi" in tools, sorted(tools))
    for name in ("reset", "step", "state", "judge", "verify", "grant", "confirm", "finish"):
        expect(name not in tools, sorted(tools))
        with contextlib.suppress(MCPError):
            raise AssertionError(f"`{name}` was answered: {await client.call_tool(name, {})}")
    expect(tools["query_current_time"].annotations.read_only_hint, tools["query_current_time"])
    expect(tools["manage_contact"].annotations.destructive_hint, tools["manage_contact"])

    first = same(await client.call_tool("manage_wifi", {"action": "disable"}))
    expect(first["success"] and first["data"]["on"] is False, first)
    await refused(client, "manage_wifi", {"action": "explode"}, "malformed")
    await refused(client, "manage_wifi", {"action": "connect", "ssid": "HomeNet", "password": 7}, "malformed")

    found = same(await client.call_tool("add_contact", {"name": "Carol"}))
    contact = found["data"]["contactId"]
    gone = same(await client.call_tool("manage_contact", {"action": "delete", "contactId": contact}))
    expect(gone["success"] and gone["data"]["contactId"] == contact, gone)

    # A rule of the world and of no tool: super saving runs few apps.
    await client.call_tool("manage_battery", {"action": "set", "mode": "super_saving"})
    await refused(client, "manage_note", {"action": "create", "title": "a", "content": "b"}, "refused")
    return [first, found, gone]


async def stdio(program):
    answers = []
    for mode in ("legacy", "auto"):
        server = StdioServerParameters(command=program, args=["serve", "mcp"])
        async with Client(server, elicitation_callback=agree, mode=mode) as client:
            expect(client.protocol_version == "2025-11-25", client.protocol_version)
            expect("clock says" in client.instructions, client.instructions)
            answers.append(await walk(client))
    expect(answers[0] == answers[1], "two phones of one seed differ")
    return answers[0]


async def http(program):
    command = [program, "serve", "mcp", "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            url = json.loads(server.stdout.readline())["listening"]
            async with Client(url, elicitation_callback=agree) as one, Client(url) as two:
                answers = await walk(one)
                untouched = same(await two.call_tool("manage_wifi", {"action": "query"}))
                expect(untouched["data"]["on"] is True, untouched)
                contact = {"action": "delete", "contactId": answers[2]["data"]["contactId"]}
                await refused(two, "manage_contact", contact, "needs-confirmation")
            return answers
        finally:
            server.terminate()
            expect(server.wait(timeout=20) == 0, server.returncode)


async def main(program):
    expect(await stdio(program) == await http(program), "the transports differ")
    print("mcp: the client of PyPI is served over both transports")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
