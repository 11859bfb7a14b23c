"""The built site: links, what it loads, and whether a stranger finds what they look for."""

from __future__ import annotations

import json
import unittest

from site_pages import SITE, TREE, followed, is_outside, page, pages, within

TASKS = json.loads((TREE / "tests/docs/tasks.json").read_text(encoding="utf-8"))


class Site(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertGreater(len(pages()), 30, f"{SITE} is not a site; docs/site/build makes it")

    def test_links_within_the_site_lead_somewhere(self):
        wrong = []
        for of in pages():
            for link in of.links:
                if is_outside(link) or link == "#":
                    continue
                path, anchor = followed(of, link)
                if not path.exists() or (anchor and path.suffix == ".html" and anchor not in page(path).anchors):
                    wrong.append(f"{of.path.relative_to(SITE)}: {link}")
        self.assertEqual(wrong, [])

    def test_pages_load_nothing_from_elsewhere(self):
        wrong = []
        for of in pages():
            for link in of.loaded:
                if is_outside(link) or not followed(of, link)[0].exists():
                    wrong.append(f"{of.path.relative_to(SITE)}: {link}")
        self.assertEqual(wrong, [])

    def test_twenty_tasks_are_found_within_two_clicks(self):
        self.assertGreaterEqual(len(TASKS), 20)
        near = within(2)
        for task in TASKS:
            with self.subTest(task["task"]):
                path = SITE / task["page"]
                self.assertIn(path, near)
                self.assertIn(task["phrase"], page(path).text)

    def test_every_page_is_in_a_menu(self):
        menus = {followed(page(SITE / "index.html"), link)[0] for link in page(SITE / "index.html").links}
        aside = {"search.html", "genindex.html", "index.html"}
        lost = [of.path for of in pages() if of.path not in menus and of.path.name not in aside]
        self.assertEqual(lost, [])


if __name__ == "__main__":
    unittest.main()
