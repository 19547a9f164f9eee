"""From no language model to one in a file, by a single command."""

from __future__ import annotations

from tests.acceptance.conftest import House
from tests.tiny_model import write_tiny_model


def test_a_running_worker_starts_again_with_the_model_file_that_is_chosen(empty_house: House) -> None:
    house = empty_house
    house.done("up", "--detach")
    models = "select string_agg(provider || ' ' || model, ',') from pgclarify.worker_status where is_alive"
    assert house.sql(models).startswith("extractive ")

    write_tiny_model(house.folder / "tiny.gguf")
    chosen = house.run("use", "tiny.gguf")

    assert chosen.returncode == 0, chosen.stderr
    assert "nothing leaves this machine" in chosen.stderr
    assert house.sql(models) == "openai tiny"
    house.done("down")
    house.done("up", "--detach")
    assert house.sql(models) == "openai tiny", "the choice is kept"
