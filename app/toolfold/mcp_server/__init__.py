"""Sessions for other agents, over the Model Context Protocol: tools, resources and prompts.

Each answer is made of named GraphQL documents, run in process under the schema's guard and limits,
and stays under a budget of bytes; what does not fit is named with the exact arguments of the call
that reads on. Whatever was recorded is shown as data.
"""
