"""Ingest: the one way in, from transcript values to rows.

- `gathering` and what it uses (`columns`, `preparation`, `identity`, `batch`): entries become a
  batch, which takes no database.
- `writing` and what it uses (`messages`, `retelling`, `sessions`, `family`): a batch is compared
  with what is stored, and what is new is written in one transaction.
- `sending` and `told`, `receiving` and `stream`: entries go out as lines to the server that owns
  the database, where they become batches.
- `opening` and what it uses (`prior`, `reading`, `reading_process`): a file is compared with what
  was imported of it, and what is worth it becomes batches, in a thread or a process.
- `file` and `report`: the batches of a file are written, and it is told what became of it.
- `appending`, `patching`, `too_long`: messages that clients append, what they say of tool calls
  later, and what of that is refused as too long.
- `live_log`: what a client and an agent say, sent on while they say it.
- `acp_stream`, `acp_state`, `acp_names`: a session's ACP messages as they come in.
- `projects`, `lifecycle`: projects and sessions as clients make, change and remove them.
- `source` and `tally`, of both: how far a file is told, and what an import has come to.
"""

from toolfold.ingest.batch import Problem
from toolfold.ingest.file import import_file, send_file
from toolfold.ingest.report import FileReport, FileState
from toolfold.ingest.writing import Counts, record

__all__ = ["Counts", "FileReport", "FileState", "Problem", "import_file", "record", "send_file"]
