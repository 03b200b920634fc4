from linkwise.scale._block_certificate import (
    BlockCertificate as BlockCertificate,
)
from linkwise.scale._cell_trees import (
    CellPlan as CellPlan,
)
from linkwise.scale._check_files import (
    Contradiction as Contradiction,
    FilesVerdict as FilesVerdict,
    StatementRow as StatementRow,
    check_files as check_files,
)
from linkwise.scale._scale_cluster import (
    ScaleClustering as ScaleClustering,
    ScalePlan as ScalePlan,
    cluster as cluster,
)
from linkwise.scale._tree_certificate import (
    TreeCertificate as TreeCertificate,
)

"""For other packages of linkwise."""

from linkwise.scale._runner import (
    local_workers as local_workers,
    remote_workers as remote_workers,
)
