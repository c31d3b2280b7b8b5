# The core and OpenVINO: docker build -t opconform . && docker run --rm -v "$PWD:/work" opconform certify openvino --profile core
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY generator generator
COPY runners/cpp runners/cpp
COPY runners/opconform_runners runners/opconform_runners
COPY runners/opconform_products runners/opconform_products
COPY docs/opconform.1 docs/opconform.1
COPY cases cases
COPY templates templates
RUN python -m venv /opt/opconform && /opt/opconform/bin/python -m pip install --no-cache-dir -c constraints.txt '.[openvino]'

FROM python:3.12-slim
COPY --from=build /opt/opconform /opt/opconform
RUN useradd --create-home --uid 1000 opconform && install --directory --owner opconform /work
ENV PATH=/opt/opconform/bin:$PATH
USER opconform
WORKDIR /work
ENTRYPOINT ["opconform"]
