"""Mutations: one module per concept, and what they share.

- `root`: the mutation type, made of the concepts' own.
- `projects`, `sessions`: what is managed; `messages`, `message_inputs`: what agents record;
  `acp`: what they say in ACP.
- `outcome`, `user_errors`, `flaws`: how a mutation answers, and what it refuses before it begins.
- `writing`: a write, and what follows its commit whether its client still waits or not.
"""
