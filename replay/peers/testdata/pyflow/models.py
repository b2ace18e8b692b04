"""Calls models with the SDKs of their vendors, and prints what the SDK makes of each answer, a line of JSON for each call.

Its arguments are the texts of the users: each vendor's model gets each of them, once whole and once as a stream.
"""

import json
import sys
from functools import cache

import anthropic
import ollama
import openai
from google import genai
from google.genai import errors, types

# A client takes long to make, so there is one of each.
openai_client, anthropic_client, genai_client, ollama_client = map(
    cache, (openai.OpenAI, anthropic.Anthropic, genai.Client, ollama.Client)
)

PARAMETERS = {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']}
TOOL = {'name': 'weather', 'description': 'Tell the weather.'}
FUNCTION = {'type': 'function', 'function': {**TOOL, 'parameters': PARAMETERS}}


def chat(text, stream):
    client = openai_client()
    request = {'model': 'gpt-py', 'messages': [{'role': 'user', 'content': text}], 'tools': [FUNCTION]}
    if stream:
        with client.chat.completions.stream(**request, stream_options={'include_usage': True}) as events:
            answer = events.get_final_completion()
    else:
        answer = client.chat.completions.create(**request)
    message, usage = answer.choices[0].message, answer.usage
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or []]
    return message.content, calls, usage.prompt_tokens, usage.completion_tokens


def responses(text, stream):
    client = openai_client()
    request = {'model': 'gpt-py-r', 'input': text, 'tools': [{'type': 'function', **TOOL, 'parameters': PARAMETERS}]}
    if stream:
        with client.responses.stream(**request) as events:
            answer = events.get_final_response()
    else:
        answer = client.responses.create(**request)
    calls = [(item.name, item.arguments) for item in answer.output if item.type == 'function_call']
    return answer.output_text, calls, answer.usage.input_tokens, answer.usage.output_tokens


def messages(text, stream):
    client = anthropic_client()
    request = {
        'model': 'claude-py', 'max_tokens': 100, 'messages': [{'role': 'user', 'content': text}],
        'tools': [{**TOOL, 'input_schema': PARAMETERS}],
    }
    if stream:
        with client.messages.stream(**request) as events:
            answer = events.get_final_message()
    else:
        answer = client.messages.create(**request)
    said = ''.join(block.text for block in answer.content if block.type == 'text')
    calls = [(block.name, json.dumps(block.input)) for block in answer.content if block.type == 'tool_use']
    return said, calls, answer.usage.input_tokens, answer.usage.output_tokens


def gemini(text, stream):
    client = genai_client()
    tools = [types.Tool(function_declarations=[types.FunctionDeclaration(**TOOL, parameters_json_schema=PARAMETERS)])]
    config = types.GenerateContentConfig(
        tools=tools, automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
    )
    request = {'model': 'gemini-py', 'contents': text, 'config': config}
    answers = client.models.generate_content_stream(**request) if stream else [client.models.generate_content(**request)]
    said, calls = '', []
    for answer in answers:
        for part in answer.candidates[0].content.parts:
            said += part.text or ''
            if part.function_call:
                calls.append((part.function_call.name, json.dumps(part.function_call.args)))
        usage = answer.usage_metadata
    return said, calls, usage.prompt_token_count, usage.candidates_token_count


def local(text, stream):
    answers = ollama_client().chat(model='llama-py', messages=[{'role': 'user', 'content': text}], tools=[FUNCTION], stream=stream)
    said, calls = '', []
    for answer in answers if stream else [answers]:
        said += answer.message.content or ''
        for call in answer.message.tool_calls or []:
            calls.append((call.function.name, json.dumps(dict(call.function.arguments))))
    return said, calls, answer.prompt_eval_count, answer.eval_count


FAILURES = (openai.APIStatusError, anthropic.APIStatusError, errors.APIError, ollama.ResponseError)

for text in sys.argv[1:]:
    for call, model in [
        (chat, 'gpt-py'), (responses, 'gpt-py-r'), (messages, 'claude-py'), (gemini, 'gemini-py'), (local, 'llama-py')
    ]:
        for stream in False, True:
            line = {'model': model, 'stream': stream}
            try:
                line['text'], calls, line['input'], line['output'] = call(text, stream)
                line['calls'] = [{'name': name, 'arguments': json.loads(arguments)} for name, arguments in calls]
            except FAILURES as e:
                line['failed'] = getattr(e, 'status_code', None) or e.code
            print(json.dumps(line), flush=True)
