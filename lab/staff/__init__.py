"""Staff's side: grades folders of solutions in processes that are shut off, and checks exercises.

Only a command line uses it: it starts processes, and a built site does not have it.
"""
