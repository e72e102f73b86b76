import { Download } from 'lucide-react'
import { memo, useMemo } from 'react'
import type { Block, ToolCall } from '../graphql/documents'
import { Boundary } from '../interface/Boundary'
import { CopyButton } from '../interface/CopyButton'
import { size } from '../interface/format'
import { visible } from '../interface/visible'
import { Code } from './Code'
import { compare } from './changes'
import { Diff } from './Diff'
import { unfenced } from './fence'
import { JsonTree } from './JsonTree'
import { PictureFile, Sound } from './Media'
import { type Start, starts } from './places'
import { File, Text } from './Text'

type Of<Name extends Block['__typename']> = Extract<Block, { __typename: Name }>

interface Props {
  blocks: readonly Block[]
  call: ToolCall
  /** The command that the input shows already. */
  command: string | null
  /** The program that made the call. */
  agent: string
}

/** A tool call's content, block by block; one that cannot be drawn is shown as its plain text. */
export const Blocks = memo(function Blocks({ blocks, call, command, agent }: Props) {
  const places = useMemo(() => starts(blocks, call.locations, agent), [blocks, call.locations, agent])
  if (!blocks.length) return <p className="note">No output.</p>
  return blocks.map((block, index) => (
    <Boundary key={index} fallback={<Plain block={block} />}>
      <One block={block} call={call} command={command} start={places[index] ?? null} all={blocks} />
    </Boundary>
  ))
})

interface OneProps extends Pick<Props, 'call' | 'command'> {
  block: Block
  start: Start | null
  /** It, and those beside it. */
  all: readonly Block[]
}

function One({ block, call, command, start, all }: OneProps) {
  switch (block.__typename) {
    case 'TextBlock':
      return <Output text={block.text} call={call} />
    case 'DiffBlock':
      return <Compared block={block} start={start} />
    case 'TerminalBlock':
      return <Command block={block} call={call} known={block.command === command} all={all} />
    case 'ImageBlock':
      return <PictureFile file={block} sourceUri={block.sourceUri} />
    case 'AudioBlock':
      return <Sound file={block} />
    case 'ResourceLinkBlock':
      return <ResourceLink block={block} />
    case 'EmbeddedResourceBlock':
      return <Resource block={block} />
    default:
      return (
        <div className="tree">
          <p className="note">A block of the kind “{visible(block.type)}”, which has no view of its own:</p>
          <JsonTree value={block.raw} />
        </div>
      )
  }
}

function Output({ text, call }: { text: string; call: ToolCall }) {
  const inner = useMemo(() => unfenced(text, call), [text, call])
  return inner.trim() ? <Text text={inner} call={call} /> : <p className="note">No output.</p>
}

function Plain({ block }: { block: Block }) {
  return (
    <>
      <p className="note">Shown as it was recorded: it could not be drawn as its kind.</p>
      <Code text={JSON.stringify(block, null, 2)} language="" label="Recorded block" />
    </>
  )
}

function Compared({ block, start }: { block: Of<'DiffBlock'>; start: Start | null }) {
  const change = useMemo(() => compare(block.path, block.oldText, block.newText, start), [block, start])
  return <Diff change={change} copy={block.newText} />
}

interface CommandProps extends Pick<OneProps, 'call' | 'all'> {
  block: Of<'TerminalBlock'>
  known: boolean
}

function Command({ block, call, known, all }: CommandProps) {
  const without = block.output ? null : withoutOutput(block, all)
  return (
    <>
      {block.command && !known && (
        <div className="command">
          <span aria-hidden>$ </span>
          <code>{visible(block.command)}</code>
          <CopyButton text={block.command} label="Copy command" />
        </div>
      )}
      {block.output && <Text text={block.output} call={{ ...call, kind: 'EXECUTE' }} />}
      {without && <p className="note">{without}</p>}
      {block.exitCode !== null && (
        <p className={block.exitCode ? 'note bad' : 'note'}>
          Exit code {block.exitCode}
          {block.exitCode ? '' : ': success'}
        </p>
      )}
    </>
  )
}

/** What is said in the place of a terminal's output; null where the blocks beside it say what there was. */
function withoutOutput(block: Of<'TerminalBlock'>, all: readonly Block[]): string | null {
  if (block.output !== null) return 'No output.'
  // Without a name it is no terminal of its own, but how the command ended whose output stands before it.
  if (block.terminalId === null && block.exitCode !== null) return all.length > 1 ? null : 'No output.'
  // Agents may give what a terminal printed as a text beside it.
  if (all.some((other) => other.__typename === 'TextBlock' && other.text.trim())) return null
  return 'No output was recorded.'
}

function ResourceLink({ block }: { block: Of<'ResourceLinkBlock'> }) {
  const title = visible(block.title ?? block.name)
  return (
    <div className="resource">
      <div>
        {/^https?:/i.test(block.uri) ? (
          <a href={block.uri} target="_blank" rel="noopener noreferrer nofollow">
            {title}
          </a>
        ) : (
          <strong>{title}</strong>
        )}
        <span className="quiet">
          {[visible(block.mimeType ?? ''), block.size === null ? null : size(block.size)]
            .filter(Boolean)
            .join(', ')}
        </span>
      </div>
      <code>{visible(block.uri)}</code>
      <CopyButton text={block.uri} label="Copy address" />
      {block.description && <p>{visible(block.description)}</p>}
    </div>
  )
}

function Resource({ block }: { block: Of<'EmbeddedResourceBlock'> }) {
  return (
    <>
      <div className="resource">
        <code>{visible(block.uri)}</code>
        <span className="quiet">
          {[visible(block.mimeType ?? ''), block.size === null ? null : size(block.size)]
            .filter(Boolean)
            .join(', ')}
        </span>
        {block.url && (
          <a href={block.url} download className="button">
            <Download size={14} aria-hidden /> Download
          </a>
        )}
      </div>
      {block.embeddedText !== null && <File text={block.embeddedText} path={block.uri} />}
    </>
  )
}
