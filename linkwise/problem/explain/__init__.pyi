"""For other packages of linkwise."""

from linkwise.problem.explain._blame import (
    blame_contradiction as blame_contradiction,
    blame_words as blame_words,
    fill_in as fill_in,
    word_core as word_core,
)
from linkwise.problem.explain._contradiction import (
    Also as Also,
    contradiction as contradiction,
    shrink as shrink,
)
from linkwise.problem.explain._core import (
    Core as Core,
    find_core as find_core,
)
from linkwise.problem.explain._entry_units import (
    EntryDoubt as EntryDoubt,
    Expansion as Expansion,
    expand as expand,
)
from linkwise.problem.explain._explanation import (
    Explanation as Explanation,
    explain as explain,
    explain_hard as explain_hard,
    minimal_core as minimal_core,
    name_list as name_list,
    with_suspects as with_suspects,
)
from linkwise.problem.explain._fixes import (
    WORK as WORK,
    Doubt as Doubt,
    Suspects as Suspects,
    find_suspects as find_suspects,
)
from linkwise.problem.explain._kernels_link_paths import (
    spanning_links as spanning_links,
)
from linkwise.problem.explain._link_paths import (
    LinkGraph as LinkGraph,
)
from linkwise.problem.explain._wording import (
    in_words as in_words,
)
