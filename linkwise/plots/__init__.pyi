from linkwise.plots._conflict_plot import (
    plot_conflict as plot_conflict,
)
from linkwise.plots._curve_plot import (
    plot_curve as plot_curve,
)
from linkwise.plots._dendrogram_plot import (
    plot_dendrogram as plot_dendrogram,
)
from linkwise.plots._heatmap import (
    plot_heatmap as plot_heatmap,
)
from linkwise.plots._links_plot import (
    plot_clusters as plot_clusters,
    plot_links as plot_links,
)
from linkwise.plots._match_labels import (
    match_labels as match_labels,
)
from linkwise.plots._search_plot import (
    plot_search as plot_search,
)

"""For other packages of linkwise."""

from linkwise.plots._plane import (
    to_plane as to_plane,
)
from linkwise.plots._style import (
    cluster_color as cluster_color,
    text_on as text_on,
)
from linkwise.plots._tree_layout import (
    Sketch as Sketch,
    draw_lines as draw_lines,
    lay_out as lay_out,
)
