from linkwise.report._facts import (
    Facts as Facts,
    Score as Score,
)
from linkwise.report._gather import (
    gather_facts as gather_facts,
)
from linkwise.report._html import (
    render_html as render_html,
)
from linkwise.report._markdown import (
    render_markdown as render_markdown,
)
from linkwise.report._write_report import (
    to_json as to_json,
    write_report as write_report,
)
