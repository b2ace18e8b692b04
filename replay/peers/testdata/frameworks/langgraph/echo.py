"""A graph with no model behind it, which langgraph-api serves as an agent."""

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph


def answer(state):
    return {"messages": [AIMessage("two words")]}


graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").add_edge("answer", END).compile()
