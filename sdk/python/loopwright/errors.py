"""How a call ends that does not do what was asked."""


class Fault(Exception):
    """A bug, or broken data: nothing that a planner could mend. It is logged and traps, and the call's writes are rolled back."""


class Failure(Exception):
    """A refusal that a planner can act on. Raise it: `raise Failure.not_found("no lamp `desk`", candidates=["main"])`."""

    def __init__(self, code: int, message: str, **data):
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data or None

    @classmethod
    def bad_argument(cls, message: str, **data) -> "Failure":
        """400: an argument is wrong."""
        return cls(400, message, **data)

    @classmethod
    def denied(cls, message: str, **data) -> "Failure":
        """403: a permission is missing."""
        return cls(403, message, **data)

    @classmethod
    def not_found(cls, message: str, **data) -> "Failure":
        """404: what was named does not exist."""
        return cls(404, message, **data)

    @classmethod
    def conflict(cls, message: str, **data) -> "Failure":
        """409: the state speaks against it."""
        return cls(409, message, **data)

    @classmethod
    def precondition(cls, message: str, **data) -> "Failure":
        """412: something must hold first, such as a network."""
        return cls(412, message, **data)

    @classmethod
    def ambiguous(cls, message: str, candidates: list, **data) -> "Failure":
        """422: several things fit the words."""
        return cls(422, message, candidates=candidates, **data)

    @classmethod
    def locked(cls, message: str, **data) -> "Failure":
        """423: the device is locked, or the user has to confirm."""
        return cls(423, message, **data)

    @classmethod
    def limit(cls, message: str, **data) -> "Failure":
        """429: a limit is reached."""
        return cls(429, message, **data)

    @classmethod
    def unavailable(cls, message: str, **data) -> "Failure":
        """503: the service behind the tool is down."""
        return cls(503, message, **data)


class StateError(Exception):
    """Why a state operation did not happen. `kind` is `denied`, `not-found`, `conflict`, `limit`, `invalid` or `other`."""

    CODES = {"denied": 403, "not-found": 404, "conflict": 409, "limit": 429}

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail

    def failure(self):
        """The refusal that it becomes when a handler lets it pass; none where it is a fault of the plugin."""
        code = self.CODES.get(self.kind)
        return Failure(code, f"state: {self}") if code else None


class JudgeError(Exception):
    """Why a verifier gives no verdict. `kind` is `invalid-check`, `missing-evidence` or `other`."""

    def __init__(self, kind: str, detail: str):
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class CallError(Exception):
    """Why a call of another plugin's tool did not do what was asked. `kind` is `failed` (the tool refused: `refused` is its Failure),
    `denied` (the host refused: not granted, not allowed within the running call, `busy`, `depth`) or `faulted` (its code `trapped`, or
    spent the budget that `detail` names)."""

    def __init__(self, kind: str, detail: str, refused=None):
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.refused = refused

    def failure(self):
        """The refusal that it becomes when a handler lets it pass: the called tool's own, 403, or 503."""
        if self.refused is not None:
            return self.refused
        if self.kind == "denied":
            return Failure(403, f"the call is denied: {self.detail}")
        return Failure(503, f"the called tool failed: {self.detail}")


class ScratchError(Exception):
    """Why something is not kept. `kind` is `quota` or `invalid`; `detail` says what is allowed and what was found."""

    def __init__(self, kind: str, detail: str):
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail

    def failure(self):
        """The refusal that it becomes when a handler lets it pass; none where it is a fault of the plugin."""
        return Failure(429, f"scratch is full: {self.detail}") if self.kind == "quota" else None
