"""A group chat with a shared memory, a private one for each, and a newcomer who knows it all."""

import tempfile

from autogen import ConversableAgent, GroupChat, GroupChatManager
from scripted_model import Asked, Reply, ScriptedModel, config_for

from holdfast.integrations.autogen import Team, attached

FINDINGS = {
    "Researcher": "Competitors charge nine euros for the basic plan.",
    "Writer": "Our articles use British spelling.",
    "Editor": "Then we say: the basic plan costs eight euros.",
}


def speak(asked: Asked) -> Reply:
    return next(finding for name, finding in FINDINGS.items() if f"You are {name}." in asked.system)


with tempfile.TemporaryDirectory() as folder, ScriptedModel(speak) as model:
    team = Team("content-team", f"sqlite:///{folder}/m.db")

    def member(name: str) -> ConversableAgent:
        agent = ConversableAgent(
            name,
            system_message=f"You are {name}.",
            llm_config=config_for(model),
            human_input_mode="NEVER",
        )
        team.join(agent)
        return agent

    user = ConversableAgent("User", llm_config=False, human_input_mode="NEVER")
    members = [member("Researcher"), member("Writer")]
    chat = GroupChat([user, *members], [], max_round=3, speaker_selection_method="round_robin")
    manager = GroupChatManager(chat, llm_config=False, silent=True)
    user.initiate_chat(manager, message="Tell what you found about prices.", silent=True)
    team.private("Writer").remember("My draft about the basic plan is not good yet")
    for agent in members:
        attached(agent).finish()

    editor = member("Editor")
    user.initiate_chat(
        editor, message="What do we know about the basic plan?", max_turns=1, silent=True
    )
    print(editor.system_message)
    print("the writer's own notes are the writer's:", "draft" not in editor.system_message)
    attached(editor).finish()
    team.close()
