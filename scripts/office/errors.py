"""The one error of the virtual office: what was asked, what was found, what to do."""

BAD_INPUT = 2
ENVIRONMENT = 3
RUN = 1


class OfficeError(Exception):
    def __init__(self, asked, found, advice, status=RUN):
        super().__init__(asked)
        self.asked = asked
        self.found = found
        self.advice = advice
        self.status = status

    def text(self):
        return (
            f"virtual_office: {self.asked}\n"
            f"  found: {self.found}\n  to do: {self.advice}"
        )


def bad_key(path, key, found, advice):
    return OfficeError(
        f"read the office file {path}, key '{key}'", found, advice, BAD_INPUT
    )
