import { Paperclip } from 'lucide-react'
import type { Attachment } from '../graphql/documents'
import { size } from '../interface/format'
import { Picture } from '../interface/Picture'
import { visible } from '../interface/visible'

/** The files that came with a message: pictures in frames of one size, others to download. */
export function Attachments({ attachments }: { attachments: readonly Attachment[] }) {
  if (!attachments.length) return null
  return (
    <ul className="attachments" aria-label="Attachments">
      {attachments.map((attachment, index) => (
        <li key={index}>
          <One attachment={attachment} />
        </li>
      ))}
    </ul>
  )
}

function One({ attachment }: { attachment: Attachment }) {
  const name = visible(attachment.name ?? attachment.mimeType)
  if (attachment.mimeType.startsWith('image/')) {
    return (
      <Picture
        url={attachment.url}
        name={`${name}, ${size(attachment.size)}`}
        otherwise={<File attachment={attachment} name={name} />}
        className="frame"
      >
        <span aria-hidden>
          {name}, {size(attachment.size)}
        </span>
      </Picture>
    )
  }
  return <File attachment={attachment} name={name} />
}

function File({ attachment, name }: { attachment: Attachment; name: string }) {
  return (
    <a href={attachment.url} download={attachment.name ?? ''} className="button">
      <Paperclip size={14} aria-hidden /> {name}, {size(attachment.size)}
    </a>
  )
}
