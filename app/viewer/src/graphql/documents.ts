/** Every document that the viewer sends; `npm run check` holds them against `schema.graphql`. */
import { graphql, type ResultOf } from './graphql'

const SessionFields = graphql(`
  fragment SessionFields on Session {
    id
    title
    agent
    status
    cwd
    gitBranch
    createdAt
    updatedAt
    messageCount
    toolCallCount
    contentSize
    project { id name }
    parent { id title }
  }
`)
export type SessionFields = ResultOf<typeof SessionFields>

const ListedSession = graphql(
  `
  fragment ListedSession on Session {
    ...SessionFields
    children(first: 0) { totalCount }
  }
`,
  [SessionFields],
)
export type ListedSession = ResultOf<typeof ListedSession>

export const SessionsQuery = graphql(
  `
  query Sessions($after: String, $filter: SessionFilter) {
    sessions(first: 50, after: $after, filter: $filter) {
      nodes { ...ListedSession }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [ListedSession],
)

export const ProjectSessionsQuery = graphql(
  `
  query ProjectSessions($project: ID!, $after: String, $filter: SessionFilter) {
    project(id: $project) {
      sessions(first: 50, after: $after, filter: $filter) {
        nodes { ...ListedSession }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [ListedSession],
)

export const ChildSessionsQuery = graphql(
  `
  query ChildSessions($id: ID!, $after: String) {
    session(id: $id) {
      children(first: 100, after: $after) {
        nodes { ...ListedSession }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [ListedSession],
)

export const ProjectsQuery = graphql(`
  query Projects($after: String) {
    projects(first: 200, after: $after) {
      nodes { id name }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const SessionListUpdates = graphql(
  `
  subscription SessionListUpdates($project: ID) {
    sessionListUpdates(projectId: $project) {
      __typename
      ... on SessionChange { session { ...ListedSession } }
      ... on SessionDeleted { deletedId }
    }
  }
`,
  [ListedSession],
)

/** What a row shows: no heavy field but the message's own text, which the guard limits. */
const MessageFields = graphql(`
  fragment MessageFields on Message {
    id
    sequence
    revision
    role
    origin
    model
    createdAt
    repaired
    content
    contentSize
    contentPreview
    attachments { mimeType size name url }
    toolMetadata {
      id
      toolCallId
      name
      title
      kind
      status
      startedAt
      endedAt
      locations { path line }
      contentSize
      contentHash
      contentState
      contentPreview
      contentUrl
      childSession { id title }
      rawInput { size hash url }
      rawOutput { size hash url }
    }
  }
`)
export type Message = ResultOf<typeof MessageFields>
export type ToolCall = NonNullable<Message['toolMetadata']>
export type Attachment = Message['attachments'][number]

const OpenSession = graphql(
  `
  fragment OpenSession on Session {
    ...SessionFields
    updatesCursor
    usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens }
  }
`,
  [SessionFields],
)
export type OpenSession = ResultOf<typeof OpenSession>

/** The session and its end, in one request. */
export const OpenAtEndQuery = graphql(
  `
  query OpenAtEnd($id: ID!, $count: Int!) {
    session(id: $id) {
      ...OpenSession
      messages(last: $count) { nodes { ...MessageFields } }
    }
  }
`,
  [OpenSession, MessageFields],
)

/** The session and what surrounds one message, in one request. */
export const OpenAroundQuery = graphql(
  `
  query OpenAround($id: ID!, $sequence: Int!, $count: Int!) {
    session(id: $id) {
      ...OpenSession
      messages(first: $count, aroundSequence: $sequence) { nodes { ...MessageFields } }
    }
  }
`,
  [OpenSession, MessageFields],
)

export const MessagesQuery = graphql(
  `
  query Messages($id: ID!, $sequence: Int!, $count: Int!) {
    session(id: $id) {
      messages(first: $count, aroundSequence: $sequence) { nodes { ...MessageFields } }
    }
  }
`,
  [MessageFields],
)

export const SessionUpdates = graphql(
  `
  subscription SessionUpdates($id: ID!, $after: String) {
    sessionUpdates(sessionId: $id, after: $after) {
      __typename
      ... on MessageUpdate {
        cursor
        isNew
        message {
          ...MessageFields
          session { messageCount toolCallCount contentSize updatedAt usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens } }
        }
      }
      ... on CaughtUp { cursor }
      ... on SessionChange { cursor session { ...SessionFields } }
      ... on SessionDeleted { cursor deletedId }
    }
  }
`,
  [MessageFields, SessionFields],
)

const Blocks = graphql(`
  fragment Blocks on ToolContentBlock {
    __typename
    ... on TextBlock { text }
    ... on DiffBlock { path oldText newText }
    ... on TerminalBlock { terminalId command exitCode output }
    ... on ImageBlock { mimeType size url sourceUri }
    ... on AudioBlock { mimeType size url }
    ... on ResourceLinkBlock { uri name mimeType size title description }
    ... on EmbeddedResourceBlock { uri mimeType size embeddedText url }
    ... on UnknownBlock { type raw }
  }
`)
export type Block = ResultOf<typeof Blocks>

/**
 * All that opening a card needs, in one request: its blocks, or its first lines where there are more than `over` with the
 * addresses of what is no text, and what it was called with.
 */
export const ToolContentQuery = graphql(
  `
  query ToolContent($id: ID!, $blocks: Boolean!, $lines: Boolean!, $over: Int, $count: Int!, $input: Boolean!) {
    message(id: $id) {
      session { agent }
      toolMetadata {
        id
        contentHash
        blocks(maxLines: $over) @include(if: $blocks) { ...Blocks }
        contentOmitted { reason size limit }
        contentLines(count: $count, ifOver: $over) @include(if: $lines) { from lines truncated totalLines nextFrom }
        images @include(if: $lines) { mimeType size url }
        rawInput @include(if: $input) { json }
      }
    }
  }
`,
  [Blocks],
)

type ContentAnswer = NonNullable<NonNullable<ResultOf<typeof ToolContentQuery>['message']>['toolMetadata']>
/** A picture, a sound or other bytes in a content. */
export type Media = NonNullable<ContentAnswer['images']>[number]

export const ToolLinesQuery = graphql(`
  query ToolLines($id: ID!, $from: Int!, $count: Int!) {
    message(id: $id) {
      toolMetadata { id contentHash contentLines(from: $from, count: $count) { from lines truncated totalLines nextFrom } }
    }
  }
`)

export const ToolTextQuery = graphql(`
  query ToolText($id: ID!, $offset: BigInt!, $length: Int!) {
    message(id: $id) {
      toolMetadata { id contentText(offset: $offset, length: $length) { nextOffset text } }
    }
  }
`)

export const ToolSliceQuery = graphql(`
  query ToolSlice($id: ID!, $offset: BigInt!) {
    message(id: $id) {
      toolMetadata { id contentSlice(offset: $offset) { nextOffset totalSize text } }
    }
  }
`)

export const ToolInputQuery = graphql(`
  query ToolInput($id: ID!, $offset: BigInt!) {
    message(id: $id) {
      toolMetadata { id rawInput { slice(offset: $offset) { nextOffset totalSize text } } }
    }
  }
`)

export const ToolOutputQuery = graphql(`
  query ToolOutput($id: ID!, $offset: BigInt!) {
    message(id: $id) {
      toolMetadata { id rawOutput { slice(offset: $offset) { nextOffset totalSize text } } }
    }
  }
`)

export const MessageTextQuery = graphql(`
  query MessageText($id: ID!, $offset: BigInt!) {
    message(id: $id) {
      contentSlice(offset: $offset) { nextOffset totalSize text }
    }
  }
`)

/** Where a session's bytes are, from stored sizes alone. */
export const HeavyQuery = graphql(`
  query Heavy($id: ID!) {
    session(id: $id) {
      id
      contentSize
      contentBreakdown(first: 12) {
        tools { name kind callCount contentSize rawInputSize rawOutputSize }
        toolCount
        largestOutputs { messageId sequence toolCallId name title kind contentSize rawOutputSize }
      }
    }
  }
`)
export type Breakdown = NonNullable<NonNullable<ResultOf<typeof HeavyQuery>['session']>['contentBreakdown']>
