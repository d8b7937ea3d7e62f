"""A world with one rule: what cannot be undone waits for the user's confirmation of exactly that call."""

from loopwright import Environment, EnvironmentPlugin, Failure, Feedback, Observation, ToolCall, Turn

plugin = EnvironmentPlugin("plugin-name", "0.1.0")


@plugin.reset
def reset(world: Environment, setup: dict) -> Observation:
    return Observation()


@plugin.step
def step(world: Environment, turn: Turn) -> tuple:
    feedback = [answer(world, call, turn.actor) for call in turn.calls]
    return feedback, Observation()


def answer(world: Environment, call: ToolCall, actor: str) -> Feedback:
    needs = world.access(call)
    if needs is None:
        return Feedback(call.id, Failure.not_found(f"there is no tool `{call.tool}`"))
    if needs.effect == "destructive" and not world.confirmed(call):
        why = f"{call.tool} cannot be undone: ask the user, then repeat the same call"
        return Feedback(call.id, Failure.locked(why), confirm=True)
    return Feedback(call.id, world.invoke(call, actor))
