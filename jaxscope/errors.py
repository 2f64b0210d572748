"""The errors jaxscope raises of its own accord, under one root.

An exception that JAX or the user's function raises is never wrapped in one of these: it is kept as it is in the failed
stage, and ``strict=True`` raises that very object. These classes are for what jaxscope itself refuses
or ends. Every message has three parts: what was being done, what was found, what to do.
"""


class JaxscopeError(Exception):
    """The root of every error raised by jaxscope."""


class InputError(JaxscopeError, ValueError):
    """What was handed over cannot be inspected; raised before any work starts."""


class UnavailableError(JaxscopeError):
    """Something was asked of an inspection that it does not hold; the message gives the reason."""


class TargetMismatchError(JaxscopeError):
    """A program turned out to be for another machine than the target; it is the error of the stage that noticed."""


class CompilerError(JaxscopeError):
    """A compiler that ran in a process of its own ended without a result, or was ended by its time limit."""
