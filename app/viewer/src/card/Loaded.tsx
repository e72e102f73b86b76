import { Blocks } from '../content/Blocks'
import { Lines } from '../content/Lines'
import { MediaFiles } from '../content/Media'
import type { Message, ToolCall } from '../graphql/documents'
import { Boundary } from '../interface/Boundary'
import { type Content, isMediaAlone } from './contents'
import { Input } from './Input'

interface Props {
  message: Message
  call: ToolCall
  content: Content
}

/** A content that has been loaded; its views come with it, so that a page without an opened card needs none. */
export default function Loaded({ message, call, content }: Props) {
  return (
    <>
      <Boundary fallback={<p className="note">The input could not be drawn.</p>}>
        <Input id={message.id} call={call} value={content.input} />
      </Boundary>
      <Boundary fallback={<p className="note">The output could not be drawn. It can be downloaded.</p>}>
        {content.blocks && (
          <Blocks
            blocks={content.blocks}
            call={call}
            command={commandOf(content.input)}
            agent={content.agent}
          />
        )}
        {content.media.length > 0 && <MediaFiles files={content.media} />}
        {content.lines && !isMediaAlone(content) && (
          <Lines id={message.id} call={call} first={content.lines} />
        )}
        {!content.blocks && !content.lines && call.contentState === 'COMPLETE' && (
          <p className="note">No output.</p>
        )}
      </Boundary>
    </>
  )
}

function commandOf(input: unknown): string | null {
  if (input === null || typeof input !== 'object' || !('command' in input)) return null
  return typeof input.command === 'string' ? input.command : null
}
