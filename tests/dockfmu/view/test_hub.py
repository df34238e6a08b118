"""What the server of a live page tells whom, of what the run takes, refuses and discards."""

import asyncio
import json

import pytest

from dockfmu.view.commands import Control, PageMessage
from dockfmu.view.live import MOST_NEWS, Hub, Viewer

pytestmark = pytest.mark.quick

GAIN = "craft.control.gain"


class Written:
    """The connection to the run: what is written to it."""

    def __init__(self):
        self.lines = []

    def write(self, data):
        self.lines.append(json.loads(data))


class Served:
    """A hub between a run, of which `says` are the lines, and two pages of which the first has the controls."""

    def __init__(self, folder):
        self.run = Written()
        about = {"folder": str(folder), "file": str(folder / "results.h5"), "station": True, "speed": 1.0}
        self.hub = Hub(self.run, about)
        self.hub.controls = [Control(GAIN, "number")]
        self.first, self.second = Viewer(None), Viewer(None)
        self.hub.viewers |= {self.first, self.second}
        self.hub.operator = self.first

    async def says(self, *messages):
        """Let the hub read what the run says, up to its end; the end is left out of what the pages are told."""
        reader = asyncio.StreamReader()
        reader.feed_data(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        reader.feed_eof()
        await self.hub.read(reader)
        for viewer in (self.first, self.second):
            viewer.news = [news for news in viewer.news if not {"state", "end"} & set(news)]


def test_what_is_taken_is_told_to_all_and_what_is_refused_to_the_operator(tmp_path):
    async def scenario():
        served = Served(tmp_path)
        await served.says({"taken": {GAIN: 2.0}}, {"refused": "no command"})
        assert served.first.news == [{"taken": {GAIN: 2.0}}, {"refused": "no command"}]
        assert served.second.news == [{"taken": {GAIN: 2.0}}]

    asyncio.run(scenario())


def test_a_discarded_value_is_withdrawn_from_all_and_said_to_its_sender_after_the_controls_changed_hands(tmp_path):
    async def scenario():
        served = Served(tmp_path)
        served.hub._obey(served.first, PageMessage("set", {GAIN: 2.0}))
        served.hub._obey(served.first, PageMessage("take", False))
        served.hub._obey(served.second, PageMessage("take", True))
        assert served.run.lines == [{"set": {GAIN: 2.0}}]
        await served.says({"taken": {GAIN: 2.0}}, {"refused": "fmi2Discard", "name": GAIN})
        assert served.second.news == [{"taken": {GAIN: 2.0}}, {"withdrawn": GAIN}]
        assert served.first.news == [*served.second.news, {"refused": "fmi2Discard"}]
        # nor is a page that comes late told of it
        assert served.hub._taken == {}

    asyncio.run(scenario())


def test_a_page_that_sends_and_never_reads_does_not_fill_the_memory():
    async def scenario():
        viewer = Viewer(None)
        for k in range(MOST_NEWS + 5):
            viewer.tell({"refused": str(k)})
        assert len(viewer.news) == MOST_NEWS
        assert viewer.news[-1] == {"refused": str(MOST_NEWS - 1)}

    asyncio.run(scenario())
