# Trivet with everything it needs, run by a user that owns nothing but its home.

FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements/base.txt requirements/base.txt
RUN python -m venv /opt/trivet \
    && /opt/trivet/bin/pip install --no-cache-dir --require-hashes --requirement requirements/base.txt
COPY . .
RUN /opt/trivet/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 trivet
COPY --from=build /opt/trivet /opt/trivet
ENV PATH=/opt/trivet/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TRIVET_WORKSPACE=/workspace
WORKDIR /workspace
USER 10001
ENTRYPOINT ["trivet"]
CMD ["--help"]
