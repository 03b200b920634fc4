from linkwise.io._data import (
    read_data as read_data,
    read_names as read_names,
    read_records as read_records,
)
from linkwise.io._knowledge import (
    Knowledge as Knowledge,
    read_knowledge as read_knowledge,
)
from linkwise.io._look import (
    Look as Look,
    look as look,
)
from linkwise.io._model import (
    load as load,
    save as save,
)
from linkwise.io._output_folder import (
    Folder as Folder,
)
from linkwise.io._prepare import (
    Preparation as Preparation,
    Table as Table,
)
from linkwise.io._results import (
    csv_line as csv_line,
    labels_csv as labels_csv,
    read_labels as read_labels,
    read_tree as read_tree,
    write_labels as write_labels,
    write_tree as write_tree,
)
from linkwise.io._write_knowledge import (
    write_knowledge as write_knowledge,
)

"""For other packages of linkwise."""

from linkwise.io._arrow_files import (
    PARQUET as PARQUET,
    holds_tree as holds_tree,
)
from linkwise.io._columns import (
    Columns as Columns,
    DelimitedColumns as DelimitedColumns,
    Script as Script,
    typed_columns as typed_columns,
)
from linkwise.io._data import (
    open_columns as open_columns,
)
from linkwise.io._results import (
    label_lines as label_lines,
)
from linkwise.io._text import (
    named_file as named_file,
    read_text as read_text,
)
from linkwise.io._write_knowledge import (
    statements_of as statements_of,
)
