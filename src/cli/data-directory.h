/* Where `weft up` keeps its data, and where commands that look into a running one find its kubeconfig. */
#pragma once

/* The directory for users who name none: weft in $XDG_STATE_HOME, or in ~/.local/state. On the heap; NULL if HOME is not set either. */
char *data_directory_default(void);
