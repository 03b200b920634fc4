"""
Records of the same person
==========================

``group_records`` compares only records that share an e-mail address or have near names, and gives the evidence.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from linkwise.selection import group_records

people = {
    "name": ["Ann Lee", "Ann Leigh", "Lee, Ann", "Bob Ray", "Rob Ray", "Cy Dow", "Cyrus Dow", "Eve Poe"],
    "mail": ["ann@x.org", "", "ann@x.org", "ray@y.org", "ray@y.org", "cy@z.org", "", "eve@z.org"],
    "town": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn", "Kiel", "Kiel", "Kiel"],
}
found = group_records(people, block=["mail", "~name", "town"], threshold=0.6)
print(found)

# %%
# How many records a person has.
sizes = np.bincount(found.labels)
first = [people["name"][int(np.flatnonzero(found.labels == group)[0])] for group in range(len(sizes))]
ax = plt.subplots(layout="constrained")[1]
ax.barh(first[::-1], sizes[::-1])
ax.set(xlabel="records", xticks=range(max(sizes) + 1))
