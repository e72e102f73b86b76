"""The GraphQL documents that are run, by name."""

_SESSION = """
fragment SessionFields on Session {
  id sourceId title agent status cwd gitBranch createdAt updatedAt
  messageCount toolCallCount contentSize
  project { name }
  parent { id title }
}
"""

_MESSAGE = """
fragment MessageFields on Message {
  id sequence role origin model createdAt contentSize
  attachments { name mimeType size url }
  toolMetadata {
    toolCallId name title kind status startedAt endedAt
    locations { path line }
    contentSize contentHash contentState contentUrl
    childSession { id }
    rawInput { size }
    rawOutput { size }
  }
}
"""

SESSIONS = (
    """
query McpSessions($first: Int!, $after: String, $filter: SessionFilter) {
  sessions(first: $first, after: $after, filter: $filter) {
    edges { cursor node { ...SessionFields } }
    pageInfo { hasNextPage }
    totalCount
  }
}
"""
    + _SESSION
)

NAMED = (
    """
query McpNamed($name: String!) {
  sessionsNamed(name: $name) { ...SessionFields }
}
"""
    + _SESSION
)

CHILDREN = (
    """
query McpChildren($id: ID!, $first: Int!, $after: String) {
  session(id: $id) {
    title agent status
    children(first: $first, after: $after) {
      edges { cursor node { ...SessionFields } }
      pageInfo { hasNextPage }
      totalCount
    }
  }
}
"""
    + _SESSION
)

SESSION_IDS = """
query McpSessionIds($first: Int!, $filter: SessionFilter) {
  sessions(first: $first, filter: $filter) { nodes { id } }
}
"""

COUNT = """
query McpCount($id: ID!) {
  session(id: $id) { messageCount }
}
"""

SESSION = (
    """
query McpSession($id: ID!) {
  session(id: $id) {
    ...SessionFields
    usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens }
    children(first: 20) { nodes { id title } totalCount }
  }
}
"""
    + _SESSION
)

TURNS = """
query McpTurns($id: ID!, $first: Int!, $after: String) {
  session(id: $id) {
    messages(first: $first, after: $after, filter: {roles: [USER]}) {
      nodes { sequence origin createdAt contentSize contentPreview }
      pageInfo { hasNextPage }
    }
  }
}
"""

CALLS = """
query McpCalls($id: ID!, $first: Int!, $failed: Int!) {
  session(id: $id) {
    said: messages(last: 1, filter: {roles: [ASSISTANT]}) {
      nodes { sequence contentSize contentPreview }
    }
    failed: messages(last: $failed, filter: {toolStatus: [FAILED]}) {
      nodes { sequence toolMetadata { name title contentPreview(maxChars: 120) } }
      totalCount
    }
    changing: messages(first: $first, filter: {toolKinds: [EDIT, DELETE, MOVE]}) {
      nodes { sequence toolMetadata { locations { path } } }
      pageInfo { hasNextPage }
    }
    reading: messages(first: $first, filter: {toolKinds: [READ]}) {
      nodes { sequence toolMetadata { locations { path } } }
      pageInfo { hasNextPage }
    }
  }
}
"""

MESSAGES = (
    """
query McpMessages(
  $id: ID!, $first: Int, $after: String, $last: Int, $before: String, $around: Int
  $filter: MessageFilter
) {
  session(id: $id) {
    id title agent status messageCount
    messages(
      first: $first, after: $after, last: $last, before: $before, aroundSequence: $around
      filter: $filter, compact: false
    ) {
      nodes { ...MessageFields }
      pageInfo { hasNextPage hasPreviousPage }
    }
  }
}
"""
    + _MESSAGE
)

MESSAGE = (
    """
query McpMessage($session: ID!, $id: ID!) {
  session(id: $session) { id title agent status messageCount }
  message(id: $id) { ...MessageFields }
}
"""
    + _MESSAGE
)

_SLICE = "{ offset length totalSize nextOffset text }"

BODIES = f"""
query McpBodies($ids: [ID!]!, $length: Int!) {{
  nodes(ids: $ids, compact: false) {{
    ... on Message {{
      id
      text: contentSlice(length: $length) {_SLICE}
      toolMetadata {{
        input: rawInput {{ slice(length: $length) {_SLICE} }}
        output: contentText(length: $length) {_SLICE}
        images {{ mimeType size url }}
      }}
    }}
  }}
}}
"""
"""The parts of many messages, but for raw outputs: most stand beside an output."""

PARTS = {
    "text": f"""
query McpText($id: ID!, $offset: BigInt!, $length: Int!) {{
  message(id: $id) {{ part: contentSlice(offset: $offset, length: $length) {_SLICE} }}
}}
""",
    "output": """
query McpOutput($id: ID!, $offset: BigInt!, $length: Int!, $counted: Boolean!) {
  message(id: $id) { toolMetadata {
    part: contentText(offset: $offset, length: $length) {
      offset length totalSize @include(if: $counted) nextOffset text
    }
  } }
}
""",
    "output_json": f"""
query McpOutputJson($id: ID!, $offset: BigInt!, $length: Int!) {{
  message(id: $id) {{ toolMetadata {{
    part: contentSlice(offset: $offset, length: $length) {_SLICE}
  }} }}
}}
""",
    "input": f"""
query McpInput($id: ID!, $offset: BigInt!, $length: Int!) {{
  message(id: $id) {{ toolMetadata {{ value: rawInput {{
    part: slice(offset: $offset, length: $length) {_SLICE}
  }} }} }}
}}
""",
    "raw_output": f"""
query McpRawOutput($id: ID!, $offset: BigInt!, $length: Int!) {{
  message(id: $id) {{ toolMetadata {{ value: rawOutput {{
    part: slice(offset: $offset, length: $length) {_SLICE}
  }} }} }}
}}
""",
}
"""One part of a message each, by range."""

LINES = """
query McpLines($id: ID!, $from: Int!, $counted: Boolean!) {
  message(id: $id) { toolMetadata {
    contentLines(from: $from, count: 1) { from offset lines totalLines @include(if: $counted) }
  } }
}
"""

FIND = """
query McpFind($id: ID!, $text: String!, $first: Int!, $after: String, $counted: Boolean!) {
  message(id: $id) { toolMetadata {
    contentFind(text: $text, first: $first, after: $after) {
      matches { line offset text } totalCount @include(if: $counted) endCursor
    }
  } }
}
"""

IMAGES = """
query McpImages($id: ID!) {
  message(id: $id) { toolMetadata { images { mimeType size url } } }
}
"""

FILES = """
query McpFiles($id: ID!, $length: Int!) {
  message(id: $id) {
    attachments { url slice(length: $length) { length base64 } }
    toolMetadata { images { url slice(length: $length) { length base64 } } }
  }
}
"""

UPDATE_TITLE = """
mutation McpUpdateTitle($id: ID!, $title: String!) {
  updateSession(input: {id: $id, title: $title}) {
    session { id title }
    errors { message }
  }
}
"""
